/** Defaults of the component library. Its colours stand in tokens.css. */
import { createTheme, Modal, Tooltip } from "@mantine/core";

export const theme = createTheme({
  primaryColor: "blue",
  defaultRadius: "sm",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    // The lock would write a style element, which the content policy forbids.
    Modal: Modal.extend({
      defaultProps: { lockScroll: false, centered: true, transitionProps: { duration: 120 } },
    }),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: false, openDelay: 200, events: { hover: true, focus: true, touch: true } } }),
  },
});
