"""Inner parts of Gradio and Starlette that this app reads or calls where they are, and may change without a word."""

from contextvars import ContextVar
from inspect import signature

from demos.page.patches.patch import Place, at, has, sets, takes
from demos.page.patches.patches import GRADIO, STARLETTE

# Gradio's own request to the page at start gives up after three seconds, which a busy machine may need.
OWN_REQUEST = Place(
    "gradio.blocks:Blocks",
    "launch",
    "the app starts on a very busy machine too, since Gradio does not ask for its own page first",
    GRADIO,
    (lambda standing: "_frontend" in signature(standing).parameters,),
)
# `Blocks.route` writes the configuration of all pages for each page that is built: 2.3 s of a processor for eight.
PAGES_AT_ONCE = Place(
    "gradio.blocks:Blocks",
    "route",
    "the pages are built in one go, which takes two seconds less at the start",
    GRADIO,
    (
        at("gradio.blocks:Blocks", sets("pages", "current_page")),
        at("gradio.blocks:Blocks", has("fill_expected_parents(self)")),
    ),
)
READ = (
    Place(
        "gradio.oauth",
        "_get_valid_oauth_info_from_session",
        "who has signed in is known, on a page where readers sign in",
        GRADIO,
        (takes("session"),),
    ),
    Place(
        "gradio.context:LocalContext",
        "request",
        "a handler knows which browser asks",
        GRADIO,
        (lambda standing: isinstance(standing, ContextVar),),
    ),
    Place(
        "gradio.blocks:Blocks",
        "__init__",
        "uploads are counted, and deleted where there are too many",
        GRADIO,
        (at("gradio.blocks:Blocks", sets("upload_file_set")),),
    ),
    Place(
        "gradio.block_function:BlockFunction",
        "__init__",
        "requests that no page of this app could send are refused",
        GRADIO,
        (
            at(
                "gradio.block_function:BlockFunction",
                sets("fn", "inputs", "api_name", "api_visibility", "types_generator"),
            ),
        ),
    ),
    Place(
        "gradio.routes",
        "API_PREFIX",
        "the guards, the links to files and the buttons of the page know Gradio's addresses",
        GRADIO,
        (lambda standing: standing == "/gradio_api",),
    ),
    Place(
        "starlette._utils",
        "get_route_path",
        "the guards read a path as the router does, behind a proxy that hands on its own part of it",
        STARLETTE,
        (takes("scope"),),
    ),
)
