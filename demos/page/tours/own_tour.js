insideBert.ownTour = { NAME: "~own", read: () => ({}), open: () => {} };
