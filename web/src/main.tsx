import "./shared/ui/fonts.css";
import "./shared/ui/mantine.css";
import "./shared/ui/tokens.css";
import { createRoot } from "react-dom/client";
import { App } from "./app/app";
import { registerServiceWorker } from "./app/service-worker";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
createRoot(root).render(<App />);
registerServiceWorker();
