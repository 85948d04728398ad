"""A part's questions before its picture is shown, each a text file in the part's folder."""

from demos.page.questions.answer import Answer as Answer
from demos.page.questions.question_file import Choice as Choice
from demos.page.questions.question_file import Question as Question
from demos.page.questions.question_file import questions as questions
