/** Locations in sandboxes that have their own file system and network. */
import type { SandboxPaths } from "./Sandbox.ts"

export const ownPaths: SandboxPaths = {
  repository: "/repository",
  scratch: "/tmp",
  modelPort: 8787,
  toolsPort: 8788
}

/** Folder with the parts that the service adds. */
export const partsFolder = "/run/aicr"
export const insideFile = `${partsFolder}/inside.mjs`
export const ownSockets = { model: `${partsFolder}/model.sock`, tools: `${partsFolder}/tools.sock` }

/** User and group of programs where the service itself runs as root. */
export const nobody = 65_534
