"""Gradio's own scripts, mended on their way to the browser.

- After each event Gradio tells every output that ever was drawn whether it is loading, and looks for each of them
  through all components. It tells those alone for which that has changed: in a lesson of many pictures that is most of
  what the browser has to do after an event.
- It shows every answer as it comes, even where it undoes what a reader has chosen since it was asked for: it asks
  demos/page/chosen_since.js what of an answer is to be shown.
- It reads Plotly, a second of work, as soon as a page has a figure of it. It waits until one comes near
  (demos/page/plots.js).
- It draws each new value of a figure twice: into the element that stands, then into another that takes its place. It
  keeps the one that stands.
- A stream that breaks while nothing is asked, as in a browser that sleeps, stays "open" for it: what is asked
  afterwards is answered into a stream that nobody reads. It is no longer open, so that the next event opens another.
- The server ends a stream once all is answered. What was asked while that end was on its way would be answered into no
  stream, and the page would wait for ever: where something is still asked for, another stream is opened.
- An answer that comes before the event's own number does was waited for ever after: one more stream after each event.
- All streams of a page have one address, and a browser's cache lets one wait for the other: it asked a second time for
  a stream that it had been given, and what was answered into the first was lost. No stream goes through the cache.
- Where an answer was lost with the stream, it loads the page anew, once, as soon as the server answers. The page writes
  what was typed into its link first (`loadAnew` in demos/page/link.js).
"""

from __future__ import annotations

import re

MENDED = re.compile(r"/assets/(Blocks|Plot|index)-[\w-]+\.js")
MENDS = {  # by the script's name: what stands in it, and what stands there instead
    "Blocks": [
        (
            re.compile(rb"await Promise\.all\(Object\.entries\(this\.loading_stati\.current\)\.map\(\("),
            rb"const told=this.loading_told??={};"
            rb"await Promise.all(Object.entries(this.loading_stati.current)"
            rb".filter(([id,status])=>{const now=JSON.stringify(status);"
            rb"return told[id]!==now&&(told[id]=now,true)}).map((",
        ),
        (
            re.compile(rb"(clearInterval\(\w+\),\w+=null,)window\.location\.reload\(\)"),
            rb"\1insideBert.loadAnew()",
        ),
        (
            re.compile(
                rb"(async dispatch\((\w+)\)\{)(.{1,600}?)"
                rb"let (\w+=await this\.gather_state\((\w+)\.inputs,.{1,900}?)"
                rb"(\w+)\.type===`data`&&await this\.handle_data\(\5\.outputs,\6\.data\),(.{1,900}?)"
                rb"(\w+)\.type===`data`&&await this\.handle_data\(\5\.outputs,\8\.data\),",
                re.DOTALL,
            ),
            rb"\1insideBert.chosenSince.began(\2);\3"
            rb"let asked=insideBert.chosenSince.now(),\4"
            rb"\6.type===`data`&&(insideBert.chosenSince.written(\2,\5.outputs,\6.data),"
            rb"await this.handle_data(\5.outputs,\6.data)),\7"
            rb"\8.type===`data`&&await this.handle_data(\5.outputs,"
            rb"await insideBert.chosenSince.kept(asked,\5,\8.data,this)),",
        ),
    ],
    "Plot": [
        (
            re.compile(rb"\((\w+)(!==\w+\(\w+\)\|\|)(\w+!==\w+\(\w+\)\|\|\w+!==\w+\(\w+\))\)&&"),
            rb"(\1\2\1!==`plotly`&&(\3))&&",
        ),
        (
            re.compile(rb"plotly:\(\)=>(\w+\(\(\)=>import\(`\./PlotlyPlot-[^)]*\).*?,import\.meta\.url\))"),
            rb"plotly:()=>insideBert.plotIsNear().then(()=>\1)",
        ),
    ],
    "index": [
        (
            re.compile(rb"(\w+)\.open=!0;let (\w+)=null,(.{1,2000}?)\2\.onerror=async function\((\w+)\)\{", re.DOTALL),
            rb"\1.open=!0;let \2=null,\3\2.onerror=async function(\4){\1.open=!1;",
        ),
        (
            re.compile(rb"if\((\w+)\.msg===`close_stream`\)\{(\w+\(\w+,(\w+)\.abort_controller\));return\}"),
            rb"if(\1.msg===`close_stream`){\2;\3.unclosed_events.size&&\3.open_stream();return}",
        ),
        (
            re.compile(
                rb"(\w+) in (\w+)&&\((\2\[\1\])(\.forEach\(\w+=>\w+\(\w+\)\),delete \2\[\1\]\),\w+\[\1\]=\w+,)"
                rb"(\w+)\.add\(\1\),(\w+\.open\|\|)"
            ),
            rb"\5.add(\1),\1 in \2&&(\3.some(one=>one.msg===`process_completed`)&&\5.delete(\1),\3\4\6!\5.size||",
        ),
        (re.compile(rb"(this\.stream_instance=\w+\(\w+\.toString\(\),\{)"), rb"\1cache:`no-store`,"),
    ],
}


def mended(path: str, script: bytes) -> bytes:
    """The script of this address as it is sent: a version of Gradio that words it otherwise is left as it is."""
    name = MENDED.fullmatch(path)
    for old, new in MENDS[name[1]] if name else ():
        script = old.sub(new, script)
    return script
