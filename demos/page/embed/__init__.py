"""This view in a page of a course, where `--frame` lets that page's site show the app in a frame."""

from demos.files import read_beside

SCRIPT = read_beside(__file__, "script.js")  # for the page's head
