/**
 * The image of containers without `sandbox.image`: built from `deploy/agents` of the same version, on the machine of the engine. It is never
 * pulled: a registry may have another image of this name.
 */
import packageJson from "../../../package.json" with { type: "json" }

export const defaultImage = `aicr-agents:${packageJson.version}`
