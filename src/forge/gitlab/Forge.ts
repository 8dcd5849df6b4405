/** GitLab as a row of the forge table. */
import type { Forge } from "../Forge.ts"
import { basicHeader } from "../http/Profile.ts"
import { gitlabClient } from "./Client.ts"
import { webhook } from "./Webhook.ts"

export const gitlab: Forge = {
  kind: "gitlab",
  webhook,
  client: gitlabClient,
  pullRef: (number) => `refs/merge-requests/${number}/head`,
  gitAuthorization: (token) => basicHeader("oauth2", token),
  bodyLimit: 1_000_000
}
