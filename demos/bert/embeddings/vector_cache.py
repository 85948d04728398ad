"""Many sentences to vectors: without padding, in bounded memory, with progress; and the cache that shares them."""

import hashlib
import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from demos.bert.embeddings.encoding_job import EncodingJob
from demos.bert.embeddings.pooling import Choice, check_choice
from demos.bert.model.batches.token_lists import BATCH_TOKENS as BATCH_TOKENS  # imported from here
from demos.bert.model.encoding import MAX_TOKENS
from demos.bert.model.generators import drained
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import ObjectNumbers, Recent
from demos.bert.model.text import clean_text

MAX_CACHE_BYTES = 256 * 2**20
LOOK_SECONDS = 0.2  # at most, between two progress reports, at which a reader's leaving is noticed

Key = tuple[int, str, Choice]  # the model's number, the digest of the sentences and their limit, the choice


@dataclass(frozen=True)
class Encoded:
    """The progress of an encoding."""

    done: int  # sentences
    total: int


def encode_sentences(
    loaded: LoadedModel, sentences: Sequence[str], choices: Sequence[Choice], most_tokens: int = MAX_TOKENS
) -> Generator[Encoded, None, list[np.ndarray]]:
    """For each choice one vector a sentence, in the sentences' order: float32 [m, D]; yields after each batch.

    `vectors = yield from encode_sentences(...)` passes the progress on; `drained` throws it away. Closed early, the
    work ends at the next layer. A sentence beyond `most_tokens` is cut, as `encode` does. Raises UserError as `encode`
    and `pool_batch` do.
    """
    job = EncodingJob(loaded, sentences, choices, most_tokens=most_tokens)
    job.enter()
    try:
        job.start()
        yield from _progress_of([job])
    finally:
        job.leave()
    return [job.vectors[choice] for choice in choices]


def _progress_of(jobs: Sequence[EncodingJob]) -> Generator[Encoded, None, None]:
    """The jobs' progress until the last is over, as that of the job that is furthest behind.

    Raises the error that ended a job.
    """
    done = -1
    for job in jobs:
        while not job.over:
            job.wait(done, LOOK_SECONDS)
            done = min(other.done for other in jobs)
            yield Encoded(done, job.total)
        if job.error is not None:
            raise job.error
    if jobs and done < jobs[0].total:
        yield Encoded(jobs[0].total, jobs[0].total)


class VectorCache:
    """Vectors by (model, sentences, choice), least recently used out first, bounded by bytes; safe for many threads.

    A request for vectors that another reader's request is computing waits; the work goes on while either of them reads.
    A model's key is its object: a caller that changes the weights must pass another object.
    """

    def __init__(self, max_bytes: int = MAX_CACHE_BYTES, memory: Budget | None = None) -> None:
        self.max_bytes = max_bytes
        self._vectors: Recent[np.ndarray] = Recent(max_bytes, lambda vectors: vectors.nbytes, memory, "vectors")
        self._pending: dict[Key, EncodingJob] = {}
        self._models = ObjectNumbers()
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return int(self._vectors.total)

    def steps(
        self, loaded: LoadedModel, sentences: Sequence[str], choices: Sequence[Choice], most_tokens: int = MAX_TOKENS
    ) -> Generator[Encoded, None, list[np.ndarray]]:
        """As `encode_sentences`, from the cache where it is there; the arrays are read-only and shared."""
        for choice in choices:
            check_choice(loaded, choice)
        texts = [clean_text(sentence, f"Sentence {number:,}") for number, sentence in enumerate(sentences, start=1)]
        digest = f"{most_tokens} {digest_of(texts)}"
        ready: dict[Choice, np.ndarray] = {}
        jobs: dict[Choice, EncodingJob] = {}
        with self._lock:
            number = self._models.of(loaded.model)
            for choice in choices:
                vectors = self._vectors.get((number, digest, choice))
                if vectors is not None:
                    ready[choice] = vectors
                elif (number, digest, choice) in self._pending:
                    jobs[choice] = self._pending[number, digest, choice]
            missing = [choice for choice in choices if choice not in ready and choice not in jobs]
            mine = EncodingJob(loaded, texts, missing, lambda job: self._keep(number, digest, job), most_tokens)
            for choice in missing:
                jobs[choice] = self._pending[number, digest, choice] = mine
            joined = list(dict.fromkeys(jobs.values()))
            for job in joined:
                job.enter()
        try:
            if missing:
                mine.start()
            yield from _progress_of(joined)
            ready |= {choice: job.vectors[choice] for choice, job in jobs.items()}
        finally:
            with self._lock:
                for job in joined:
                    job.leave()
                    if not job.wanted():
                        self._forget(number, digest, job)
        return [ready[choice] for choice in choices]

    def get(
        self, loaded: LoadedModel, sentences: Sequence[str], choices: Sequence[Choice], most_tokens: int = MAX_TOKENS
    ) -> list[np.ndarray]:
        """`steps` without its progress."""
        return drained(self.steps(loaded, sentences, choices, most_tokens))

    def _keep(self, number: int, digest: str, job: EncodingJob) -> None:
        """The result of a job, but no more of it than half the room: one long list must not drive all others out."""
        with self._lock:
            self._forget(number, digest, job)
            room = self.max_bytes // 2
            for choice, vectors in job.vectors.items():
                if vectors.nbytes <= room:
                    room -= vectors.nbytes
                    self._vectors.put((number, digest, choice), vectors)

    def _forget(self, number: int, digest: str, job: EncodingJob) -> None:
        for choice in job.choices:
            if self._pending.get((number, digest, choice)) is job:
                del self._pending[number, digest, choice]


def digest_of(texts: Sequence[str]) -> str:
    """One name for one list: every text behind its length, so that a line break inside one is no end of it."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(f"{len(text)}:{text}".encode())
    return digest.hexdigest()
