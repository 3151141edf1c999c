/** Defaults of the component library. Its colours stand in tokens.css. */
import { createTheme } from "@mantine/core";

export const theme = createTheme({
  primaryColor: "blue",
  defaultRadius: "sm",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    // Said aloud, so that tokens.css can see it.
    Button: { defaultProps: { variant: "filled" } },
    // The first item has the focus; a placeholder that is no item would be a fault among them.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // The scroll lock would write a style element, which the content policy forbids.
    // Named here without importing it: most first screens have no dialog.
    Modal: { defaultProps: { lockScroll: false, centered: true, transitionProps: { duration: 120 } } },
  },
});
