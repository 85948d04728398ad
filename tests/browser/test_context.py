"""All tests share a browser's context for its cache: nothing that one has stored is there for the next."""

from playwright.sync_api import BrowserContext

from tests.browser.conftest import empty, held

LEFT = "[document.cookie, localStorage.length, sessionStorage.length, (await indexedDB.databases()).length]"


def test_nothing_stored_is_left(context: BrowserContext, app_url: str) -> None:
    page = context.new_page()
    page.goto(f"{app_url}/robots.txt")
    page.evaluate("""() => {
        document.cookie = "a=b";
        localStorage.setItem("a", "b");
        sessionStorage.setItem("a", "b");
        return new Promise((done) => (indexedDB.open("a").onsuccess = (event) => done(event.target.result.close())));
    }""")
    assert page.evaluate(f"async () => {LEFT}") == ["a=b", 1, 1, 1]
    page.close()
    empty(held(context, app_url), app_url)
    page = context.new_page()
    page.goto(f"{app_url}/robots.txt")
    assert page.evaluate(f"async () => {LEFT}") == ["", 0, 0, 0]
