"""Texts that would run as script wherever a page took them for more than text, and what tells that one did."""

from __future__ import annotations

RUN = "__ran=1"
PAYLOADS = (
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f'"><img src=x onerror={RUN}>',
    f"'><svg onload={RUN}>",
    f"${{{RUN}}}",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f'<a href="javascript:{RUN}">x</a>',
    f"';{RUN};//",
    f'<noscript><p title="</noscript><img src=x onerror={RUN}>">',
    f"{{{{{RUN}}}}}",
    f"{{%={RUN}%}}<%={RUN}%>#{{{RUN}}}",
    f'";{RUN};//',
    f"`;{RUN};//",
    f"\\u003cimg src=x onerror={RUN}\\u003e",
    f"&lt;img src=x onerror={RUN}&gt;",
    f"&#60;svg onload={RUN}&#62;",
    f"%3Cimg src=x onerror={RUN}%3E",
    f"</textarea><img src=x onerror={RUN}>",
    f"</title><svg onload={RUN}>",
    f"</style><svg onload={RUN}>",
    f"--><svg onload={RUN}>",
    f"<!--><svg onload={RUN}>",
    f"<![CDATA[><svg onload={RUN}>]]>",
    f"<svg><script>{RUN}</script></svg>",
    f'<svg><a xlink:href="javascript:{RUN}"><text>x</text></a></svg>',
    f"<math><mtext><svg onload={RUN}>",
    f"<details open ontoggle={RUN}>x</details>",
    f"<video><source onerror={RUN}></video>",
    f"<audio src=x onerror={RUN}>",
    f"<body onload={RUN}>",
    f'<iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
    f"<iframe src=javascript:parent.{RUN}></iframe>",
    f"<object data=javascript:{RUN}></object>",
    f"<embed src=javascript:{RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<form action=javascript:{RUN}><button>x</button></form>",
    f"<meta http-equiv=refresh content='0;url=javascript:{RUN}'>",
    f"<style onload={RUN}></style>",
    f"<b onmouseover={RUN} style=position:fixed;inset:0>x</b>",
    f"<img/src=x/onerror={RUN}>",
    f"<IMG SRC=x OnErRoR={RUN}>",
    f"<scr<script>ipt>{RUN}</scr</script>ipt>",
    f"<img src=x onerror=&#95;_ran=1>{RUN}",
    f"' onmouseover='{RUN}",
    f'" autofocus onfocus="{RUN}',
    f"[x](javascript:{RUN}) ![x](x){{onerror={RUN}}}",
    f"$$\\href{{javascript:{RUN}}}{{x}}$$",
    f'<svg></p><style><a id="</style><img src=x onerror={RUN}>">',
    f"<x onanimationstart={RUN} style=animation:spin>%{{x}}<extra></extra>",
)
FEW = PAYLOADS[:10]  # of the kinds that differ most
# In a frame: whether a script of these ran, and every element that one of them has become.
MADE = r"""() => [...(window.__ran === undefined ? [] : ["ran"]),
    ...[...document.querySelectorAll("*")].filter((one) =>
        [...one.attributes].some(({ name, value }) =>
            (/^on/i.test(name) && value.includes("_ran")) || /^\s*javascript:.*_ran/i.test(value)) ||
        (one.localName === "script" && !/json/.test(one.type) && one.textContent.includes("__ran"))
    ).map((one) => one.outerHTML.slice(0, 200))]"""
