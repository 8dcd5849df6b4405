/** Deliveries of GitHub that the demo host has no event for. */
import { createHmac, randomUUID } from "node:crypto"
import type { DemoDelivery, DemoForge } from "../../demo/DemoForge.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"

/** The host, and the secret of its webhook. */
export type GithubSigner = Pick<DemoForge, "delivery" | "user"> & { readonly secret: string }

/** Returns the signed delivery of a payload about the repository of a pull request, of the account `login`. */
export const signGithub = (
  forge: GithubSigner,
  pull: DemoPull,
  event: string,
  login: string,
  payload: object
): DemoDelivery => {
  const { fullName: full_name, id } = pull.repository
  const body = Buffer.from(JSON.stringify({ ...payload, repository: { id, full_name }, sender: { login } }))
  const signature = createHmac("sha256", forge.secret).update(body).digest("hex")
  const headers = {
    "content-type": "application/json",
    "x-github-event": event,
    "x-github-delivery": randomUUID(),
    "x-hub-signature-256": `sha256=${signature}`
  }
  return { ...forge.delivery({ kind: "pull", pull, action: "opened", sender: forge.user(login) }), headers, body }
}
