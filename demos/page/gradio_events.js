// Gradio looks through all events for each of its components, twice, before it shows any: some hundred thousand steps, each
// through a proxy that Svelte puts around plain arrays. Nothing here changes an event, so the lists are made arrays of
// another class, which Svelte leaves alone: the page opens with about two seconds less of a processor's work.
{
  class Events extends Array {}
  const events = window.gradio_config?.dependencies;
  for (const list of events ? [events, ...events.map((event) => event.targets)] : []) Object.setPrototypeOf(list, Events.prototype);
}
