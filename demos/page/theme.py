"""The look: one theme, light and dark, its colours from the palette, its fonts from demos/figures/fonts/fonts.py."""

import gradio as gr

from demos.figures.fonts.fonts import MONO, SANS
from demos.figures.palette import PALETTE


def build_theme() -> gr.themes.Base:
    """Gradio's plainest theme in our colours; names of fonts only, so that Gradio fetches none."""
    light, dark = PALETTE["light"], PALETTE["dark"]
    theme = gr.themes.Base(
        font=_families(SANS),
        font_mono=_families(MONO),
        text_size=gr.themes.sizes.text_lg,
        radius_size=gr.themes.sizes.radius_sm,
    )
    colours: dict[str, str] = {}
    for names, colour in (
        (("body_background_fill",), "paper"),
        (("background_fill_primary", "block_background_fill", "input_background_fill"), "surface"),
        (("background_fill_secondary", "panel_background_fill"), "paper"),
        (
            (
                "body_text_color",
                "block_title_text_color",
                "block_label_text_color",
                "button_secondary_text_color",
            ),
            "ink",
        ),
        (("body_text_color_subdued", "block_info_text_color", "input_placeholder_color"), "muted"),
        (("border_color_primary", "block_border_color", "input_border_color"), "line"),
        (("border_color_accent", "slider_color", "link_text_color"), "accent"),
        (("input_border_color_focus", "checkbox_background_color_selected"), "accent"),
        (("checkbox_border_color_selected", "checkbox_label_background_fill_selected"), "accent"),
        (("button_primary_background_fill", "button_primary_background_fill_hover"), "accent"),
        (("button_primary_text_color", "checkbox_label_text_color_selected"), "surface"),
        (("button_secondary_background_fill", "checkbox_label_background_fill"), "surface"),
        (("block_label_background_fill", "block_title_background_fill"), "surface"),
    ):
        for name in names:
            colours[name] = light[colour]
            colours[f"{name}_dark"] = dark[colour]
    return theme.set(
        **colours,
        color_accent=light["accent"],  # gradio has no dark one
        block_border_width="0px",
        block_shadow="none",
        block_label_border_width="0px",
        block_title_text_weight="600",
        block_title_text_size="*text_md",
        input_border_width="1px",
        button_border_width="1px",
    )


def _families(stack: str) -> list[str]:
    """A font stack's names, as Gradio takes them: it puts the quotation marks itself."""
    return [name.strip(" '") for name in stack.split(",")]
