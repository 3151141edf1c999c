/**
 * Copies text to the clipboard. Browsers do not allow it on plain http (except
 * for localhost), which is how many people run Wakeful at home; the fallback is
 * the deprecated copy command, which copies the selection.
 */
export async function copy(text: string, shown: HTMLElement): Promise<boolean> {
  if (window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Forbidden, or the window is not focused; the command may still work.
    }
  }
  select(shown);
  if (!byCommand(text)) return false;
  document.getSelection()?.removeAllRanges();
  return true;
}

/** Selects the text, so that the user can copy it by keyboard. */
function select(shown: HTMLElement) {
  document.getSelection()?.selectAllChildren(shown);
}

function byCommand(text: string): boolean {
  let handled = false;
  // The exact text, without the line breaks of the layout.
  const setText = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    handled = true;
  };
  document.addEventListener("copy", setText);
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else copies where there is no clipboard
    return document.execCommand("copy") && handled;
  } finally {
    document.removeEventListener("copy", setText);
  }
}
