/** The image of containers without `sandbox.image`: built from `deploy/agents` of the same version, on the machine of the engine. */
import packageJson from "../../package.json" with { type: "json" }

export const defaultImage = `aicr-agents:${packageJson.version}`

/** It is never pulled: a registry may have another image of this name. */
export const buildAdvice = `build it with docker build -t ${defaultImage} -f deploy/agents/Dockerfile . (or podman build), or set sandbox.image`
