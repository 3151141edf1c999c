/**
 * Takes a text along. Browsers keep their clipboard from scripts on plain http
 * (but for localhost), which is how many people run Wakeful at home; there the
 * old command remains, which copies what is selected.
 */
export async function copy(text: string, shown: HTMLElement): Promise<boolean> {
  if (window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Forbidden, or the window is not in front; the command may still do.
    }
  }
  select(shown);
  if (!byCommand(text)) return false;
  document.getSelection()?.removeAllRanges();
  return true;
}

/** As it would be marked by hand, so that a key can do the rest. */
function select(shown: HTMLElement) {
  document.getSelection()?.selectAllChildren(shown);
}

function byCommand(text: string): boolean {
  let taken = false;
  // The text itself, not what the page's layout makes of it.
  const take = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    taken = true;
  };
  document.addEventListener("copy", take);
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else copies where there is no clipboard
    return document.execCommand("copy") && taken;
  } finally {
    document.removeEventListener("copy", take);
  }
}
