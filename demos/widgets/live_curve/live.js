// Shared by the live curves: a moving average, and requests for new points.
insideBert.curves = {
  ASKING: 500, // milliseconds between two requests

  // An exponential moving average of [x, y] points that does not depend on the first one (Kingma & Ba 2015, section 3).
  smooth(points, smoothing) {
    let mean = 0;
    return points.map(([x, y], index) => {
      mean = smoothing * mean + (1 - smoothing) * y;
      return [x, mean / (1 - smoothing ** (index + 1))];
    });
  },

  // A function that requests new points from the server until the run in `kept` is done: `question` says which points
  // the page has, `take` receives the answer. An invisible curve sends no request; if the server has no such function, or
  // gives no answer, the points come only with the event's own messages.
  asker(element, server, kept, question, take, pause = () => insideBert.curves.ASKING) {
    let asking = false;
    return async function ask() {
      if (asking || !server?.server_news) return;
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
        // the next message starts the requests again
      } finally {
        asking = false;
      }
    };
  },
};
