// The room's results that the lecturer may save: kept by this tab alone, until it is closed or opens another room.
import { address, room } from "./parts.js";

const STORE = "inside-bert-record";

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(STORE));
  } catch {
    return null; // private windows refuse storage: then a reload begins a new record
  }
}
let kept = read();

// -> {code, votes: by number, picked: sentences, runs: curves by their names, data: the class's data set or null}, or null
export const record = () => kept;

function keep(changes) {
  const { code } = room.now;
  kept = { ...(kept?.code === code ? kept : { code, votes: {}, picked: [], runs: {}, data: null }), ...changes };
  try {
    sessionStorage.setItem(STORE, JSON.stringify(kept));
  } catch {
    // as above, or it is full
  }
}

export const begin = () => keep({}); // or go on with it, in a room that this tab has led before
export const keepPicked = (sentence) => keep({ picked: [...kept.picked, sentence] });

// The vote under way, at each answer: what it has when it ends is what stays
/** @param {RoomState} state */
export function keepVote({ vote, tally }) {
  if (!vote || vote.number !== tally?.number) return;
  const { question, answers } = vote;
  keep({ votes: { ...kept.votes, [vote.number]: { question, answers, ...tally } } });
}

// The run's curve and the class's data set, which only the server has while the room lasts. `act` requests them.
/** @param {RoomState} state */
export async function gather({ run, data }, act) {
  if (run) {
    const { code, member } = room.now;
    const answer = await fetch(address("curve", { room: code, key: member, steps: 0, looks: 0 })).catch(() => null);
    const curve = answer?.ok && (await answer.json().catch(() => null));
    if (curve) keep({ runs: { ...kept.runs, [run]: curve } });
  }
  if (data) keep({ data: await act("collected").catch(() => kept.data) });
  else if (kept.data) keep({ data: null }); // the lecturer has removed it
}
