/** A Telegram bot. */
import { webhook } from "./webhook";

export const telegram = webhook({
  template: "telegram",
  help: "telegram",
  placeholder: "https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>",
});
