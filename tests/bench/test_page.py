"""The page of figures, made of what is recorded and the words around it."""

from __future__ import annotations

from pathlib import Path

from bench.page import FIGURES, PAGE, TEMPLATE, Figures, page, record

HEAD = ("| what | µs | |", "| --- | ---: | --- |")
GET, PUT = "| get | 1 | reached |", "| put | 2 | **missed** |"


def recorded(path: Path, *rows: str, whole: bool = True) -> Figures:
    record({"requests": [*HEAD, *rows]}, {"rounds": "5"}, whole=whole, into=path)
    return Figures.read(path)


def test_one_row_measured_anew_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    Figures(values={"other": "kept"}).write(path)
    recorded(path, GET, PUT)
    figures = recorded(path, "| get | 3 | reached |", whole=False)
    assert [row[:2] for row in figures.tables["requests"][2:]] == [["get", "3"], ["put", "2"]]
    assert figures.values == {"other": "kept", "rounds": "5"}
    assert list(figures.missed()) == ["requests: put"]
    assert list(recorded(path, GET).missed()) == []


def test_rows_are_known_by_their_first_cells() -> None:
    figures = Figures()
    head = ("| of | what | at | |", "| --- | --- | :--- | --- |")
    figures.put("growth", (*head, "| a | x | 1 | no |", "| a | y | 1 | no |"))
    figures.put("growth", (*head, "| a | y | 2 | yes |"), whole=False)
    assert figures.tables["growth"][2:] == [["a", "x", "1", "no"], ["a", "y", "2", "yes"]]


def test_a_section_without_its_figures_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    Figures().write(path)
    words = (
        "# Page\n\n## One\n\n{{requests}}\n\nOf {{rounds}}.\n\n## Two\n\n{{nobody}}\n\n## Three\n"
    )
    assert page(words, Figures.read(path)) == "# Page\n\n## Three\n"
    shown = "\n".join((*HEAD, GET))
    made = page(words, recorded(path, GET))
    assert made == f"# Page\n\n## One\n\n{shown}\n\nOf 5.\n\n## Three\n"


def test_the_page_is_what_is_recorded() -> None:
    """Whoever changes it by hand changes the template: `python -m bench.page` writes the page."""
    figures = Figures.read(FIGURES)
    assert page(TEMPLATE.read_text("utf-8"), figures) == PAGE.read_text("utf-8")
