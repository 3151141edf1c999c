/** Defaults of the component library. Its colors are in tokens.css. */
import { createTheme } from "@mantine/core";

export const theme = createTheme({
  primaryColor: "blue",
  defaultRadius: "sm",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    // Set explicitly, so that tokens.css can select it.
    Button: { defaultProps: { variant: "filled" } },
    // The first item has the focus; a placeholder among the items would fail the accessibility checks.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // The scroll lock would add a style element, which the content security policy forbids.
    // Configured by name, without importing it: most first screens have no dialog.
    // Its header element would be a second banner.
    Modal: {
      defaultProps: { attributes: { header: { role: "none" } }, lockScroll: false, centered: true, transitionProps: { duration: 120 } },
    },
  },
});
