"""Numbers as the page writes them."""

from markupsafe import Markup, escape


def scientific(value: float) -> str:
    """1.2e-07 as a book writes it: 1.2 × 10⁻⁷; zero is 0."""
    if value == 0:
        return "0"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits} × 10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def percent(chance: float) -> Markup:
    """A probability with two digits, 62%, 1.7%, 0.12%, 0.034%, and never zero; escaped."""
    share = 100 * chance
    digits = ".0f" if share >= 9.95 else "#.2g"
    return escape(f"{share:{digits}}%" if share >= 0.001 else "<0.001%")


def with_prefix(number: float, unit: str) -> str:
    """Three digits and a thousands' letter: 438 MB, 170 M."""
    for power, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= 0.9995 * power:  # 999.7 million are 1 G, since three digits can't write 1,000 M
            return f"{number / power:.3g} {letter}{unit}"
    return f"{number:.3g} {unit}".strip()
