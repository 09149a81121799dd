// What is measured of a timeline, as scripts for its page.

export const timelineRows = "document.querySelectorAll('[data-row]').length";

/** Milliseconds for one screen, on the way up from the middle. */
export const timelineScroll = `(async () => {
  const scroller = document.querySelector(".cr-scroll");
  const steps = 10;
  let spent = 0;
  for (let step = 0; step < steps; step++) {
    const started = performance.now();
    scroller.scrollTop = scroller.scrollHeight / 2 - step * 700;
    await new Promise(requestAnimationFrame);
    await new Promise((resolve) => setTimeout(resolve));
    void scroller.offsetHeight;
    spent += performance.now() - started;
  }
  return spent / steps;
})()`;
