"""Debian's Chromium, without a window, driven by its own driver over the WebDriver protocol: nothing else is needed."""

import base64
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request


class Browser:
    def __init__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}", "--silent"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        self.address = f"http://127.0.0.1:{port}"
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]}
        capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        deadline = time.monotonic() + 60
        while True:
            try:
                session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
                break
            except (urllib.error.URLError, ConnectionError):
                if time.monotonic() > deadline:
                    self.driver.kill()
                    raise
                time.sleep(0.2)
        self.session = f"/session/{session['sessionId']}"

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.address + path, method=method,
                                         data=None if body is None else json.dumps(body).encode())  # fmt: skip
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def command(self, name, **parameters):
        """One of the DevTools protocol."""
        body = {"cmd": name, "params": parameters}
        return self.call("POST", self.session + "/goog/cdp/execute", body)

    def show(self, path, width=1280, dark=False):
        self.messages("browser")
        self.messages("performance")
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.command("Emulation.setEmulatedMedia", features=scheme)
        self.call("POST", self.session + "/url", {"url": path.resolve().as_uri()})

    def run(self, script, *arguments):
        return self.call("POST", self.session + "/execute/async" if "done(" in script else self.session + "/execute/sync",
                         {"script": script, "args": list(arguments)})  # fmt: skip

    def messages(self, kind):
        return self.call("POST", self.session + "/se/log", {"type": kind})

    def requests(self):
        """What was asked for since the page was shown."""
        events = [json.loads(entry["message"])["message"] for entry in self.messages("performance")]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def picture(self, path):
        size = self.command("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}
        found = self.command("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def close(self):
        try:
            self.call("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait(timeout=30)


def axe_script():
    """axe-core, which `make test-browser` fetches; its place is in M4N_AXE."""
    with open(os.environ["M4N_AXE"], encoding="utf-8") as file:
        return file.read()
