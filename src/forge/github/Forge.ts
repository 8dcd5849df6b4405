/** GitHub as a row of the forge table. */
import type { Forge } from "../Forge.ts"
import { basicHeader } from "../http/Profile.ts"
import { githubClient } from "./Client.ts"
import { webhook } from "./Webhook.ts"

export const github: Forge = {
  kind: "github",
  webhook,
  client: githubClient,
  pullRef: (number) => `refs/pull/${number}/head`,
  gitAuthorization: (token) => basicHeader("x-access-token", token),
  bodyLimit: 65_536
}
