// The page of `tfdarshan view`: the tab without TensorBoard's frame around it, which would say whether it is dark.
import { render } from "./index.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.body.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
render();
