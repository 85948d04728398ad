"""Tensors, step by step, in a real browser: turned by button and by key, and carried by the link."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_the_steps_turn_by_button_and_by_key(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("embeddings", part="tensors", tensors_step="states", tensors_row=7)
    shown = page.locator(".tensor-step")
    expect(shown).to_have_attribute("data-step", "states")
    m, n, d = str(shown.get_attribute("data-shape")).strip("[]").split(" × ")
    page.locator("#embeddings-tensors-next").click()
    expect(shown).to_have_attribute("data-shape", f"[{m} × {d}]")
    page.locator("#embeddings-tensors-step input:checked").focus()
    page.keyboard.press("ArrowDown")
    expect(shown).to_have_attribute("data-step", "table")
    expect(shown.locator(".followed th")).to_have_text("7")
    page.wait_for_url("**tensors_step=table**")
    assert int(n) > 1


def test_a_row_is_followed_through_all_matrices(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("encoder", part="matrices", text="The kettle had boiled dry.")
    board, told = page.locator("#encoder-matrices-board"), page.locator("#encoder-matrices-board .matrices-told")
    expect(told).to_contain_text("Point at a cell")
    weights = board.locator('.matrix[data-name="α"]').first
    weights.scroll_into_view_if_needed()
    box = weights.bounding_box()
    assert box
    cell = box["height"] / 8  # [CLS], six tokens, [SEP]
    page.mouse.move(box["x"] + 6.5 * cell, box["y"] + 1.5 * cell)
    expect(told).to_contain_text("α, row 1 (the), column 6 (.)")
    places = board.locator(".matrices").evaluate(
        "(root) => ['i', 'j'].map((axis) => Number(root.style.getPropertyValue(`--at-${axis}`)))"
    )
    assert places == [1.5 / 8, 6.5 / 8]
    page.mouse.move(2, 2)
    expect(told).to_contain_text("Point at a cell")
    page.locator("#encoder-token [aria-checked=true]").focus()
    weights.evaluate("(matrix) => matrix.focus({ focusVisible: true })")
    page.keyboard.press("ArrowUp")
    expect(told).to_contain_text("α, row")


def test_a_column_of_one_head_is_followed_among_those_of_all_heads(open_lesson: Callable[..., Page]) -> None:
    """And one of all heads in its own head, where that is the chosen one."""
    page = open_lesson("encoder", part="matrices", text="The kettle had boiled dry.", layer=2, head=4)
    board, told = page.locator("#encoder-matrices-board"), page.locator("#encoder-matrices-board .matrices-told")

    def point_at(name: str, column: int, of: int) -> list[float]:
        """Where on the axes of one head and of all heads the light is, once this column is pointed at."""
        matrix = board.locator(f'.matrix[data-name="{name}"]').last
        matrix.scroll_into_view_if_needed()
        box = matrix.bounding_box()
        assert box
        page.mouse.move(box["x"] + (column + 0.5) * box["width"] / of, box["y"] + box["height"] / 2)
        expect(told).to_contain_text(f"{name}, row 4")
        return board.locator(".matrices").evaluate(
            "(root) => ['v', 'c'].map((axis) => Number(root.style.getPropertyValue(`--at-${axis}`)))"
        )

    expect(board.locator(".matrices")).to_have_attribute("data-parts", '{"v": ["c", 128, 32]}')
    assert point_at("Z", 5, 32) == [5.5 / 32, 133.5 / 384]
    own, whole = point_at("Z of all 12 heads", 150, 384)
    assert own * 32 + 128 == whole * 384
    assert point_at("Z of all 12 heads", 40, 384)[0] == -9
