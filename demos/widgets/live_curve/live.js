// What the live curves share, put before each one's own script: shapes, a moving average, and asking for what is new.
const SVG = "http://www.w3.org/2000/svg";
const ASKING = 500; // milliseconds between two questions

function node(parent, name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

// An exponential moving average of [x, y] points that does not hang on the first one (Kingma & Ba 2015, section 3).
function smooth(points, smoothing) {
  let mean = 0;
  return points.map(([x, y], index) => {
    mean = smoothing * mean + (1 - smoothing) * y;
    return [x, mean / (1 - smoothing ** (index + 1))];
  });
}

// A function that asks the server, until the run in `kept` is done, for what came since the points that are there:
// `question` says which those are, `take` is given the answer. Unseen it asks nothing; where there is no such function
// on the server, or no answer, the points come with the event's own messages alone.
function asker(kept, question, take, pause = () => ASKING) {
  let asking = false;
  return async function ask() {
    if (asking || typeof server === "undefined" || !server.server_news) return;
    asking = true;
    try {
      while (!kept.last.done && element.isConnected) {
        await new Promise((resolve) => setTimeout(resolve, pause()));
        if (kept.last.done || !element.checkVisibility()) continue;
        const run = kept.run;
        const said = await server.server_news([run, ...question()]);
        if (!said) return;
        if (run === kept.run && !kept.last.done) take(said);
      }
    } catch {
      // the next message asks again
    } finally {
      asking = false;
    }
  };
}

