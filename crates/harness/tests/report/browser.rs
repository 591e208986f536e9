//! Headless Chromium that opens a page and runs a script in it.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use crate::scratch;

/// The size and theme of a page's viewport.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    pub(crate) width: u32,
    pub(crate) is_dark: bool,
}

impl Screen {
    pub(crate) const DESKTOP: Self = Self { width: 1280, is_dark: false };
}

/// The lines that the script reports with `say(anything)` on that page; `None` without Chromium.
///
/// # Panics
///
/// If the page or the script fails, or writes to the console.
pub(crate) fn reported_lines(
    name: &str,
    html: &str,
    screen: Screen,
    script: &str,
) -> Option<Vec<String>> {
    let Some(browser) = chromium() else {
        // The test runner captures `eprintln!`, but not a direct write.
        let remark = "skipped: no Chromium to open the page in (apt-get install chromium)\n";
        std::io::stderr().write_all(remark.as_bytes()).unwrap();
        return None;
    };
    let dir = scratch(&format!("browser-{name}"));
    let script_element =
        format!("{SAY}<script>(async () => {{ {script} }})().finally(done)</script></html>");
    fs::write(dir.join("page.html"), html.replace("</html>", &script_element)).unwrap();
    // A window is at least 500 pixels wide; a frame can be narrower.
    let frame = FRAME.replace("WIDTH", &screen.width.to_string());
    fs::write(dir.join("frame.html"), frame).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-quic"])
        .args(["--window-size=1400,900", "--virtual-time-budget=5000", "--enable-logging=stderr"])
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!screen.is_dark)))
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", dir.join("frame.html").display()))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let console: Vec<_> = errors.lines().filter(|line| line.contains(":CONSOLE:")).collect();
    assert!(console.is_empty(), "{console:#?}");
    let outer = String::from_utf8_lossy(&output.stdout);
    let report = outer.split("<pre>").nth(1).and_then(|rest| rest.split("</pre>").next());
    let report = report.filter(|report| report.contains("done\n"));
    let report = report.unwrap_or_else(|| panic!("the script did not end: {outer}"));
    Some(report.trim_end_matches("done\n").lines().map(str::to_owned).collect())
}

const FRAME: &str = r#"<!DOCTYPE html><html><head><meta charset="utf-8">
    <meta name="color-scheme" content="light dark"></head><body>
    <iframe src="page.html" style="border: 0; width: WIDTHpx; height: 800px"></iframe><pre></pre>
    <script>onmessage = ({ data }) => {
        document.querySelector("pre").textContent += data + "\n";
    };</script></body></html>"#;

const SAY: &str = r#"<script>
    const say = (it) => parent.postMessage(String(it), "*"), done = () => say("done");
    </script>"#;

fn chromium() -> Option<&'static str> {
    let runs = |name: &&str| {
        Command::new(name).arg("--version").output().is_ok_and(|it| it.status.success())
    };
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs)
}
