/** Gitea as a row of the forge table. */
import type { ForgeKind } from "../../domain/Kinds.ts"
import type { Forge, ForgeWebhook } from "../Forge.ts"
import { basicHeader } from "../http/Profile.ts"
import { giteaClient } from "./Client.ts"
import type { GiteaDialect } from "./Reviews.ts"
import { webhook } from "./Webhook.ts"

/** Builds the row for Gitea or a host derived from it, which names its differences. */
export const giteaRow = (own: {
  readonly kind: Extract<ForgeKind, "forgejo" | "gitea">
  readonly webhook: ForgeWebhook
  readonly dialect: GiteaDialect
}): Forge => ({
  kind: own.kind,
  webhook: own.webhook,
  client: giteaClient(own.kind, own.dialect),
  pullRef: (number) => `refs/pull/${number}/head`,
  gitAuthorization: (token) => basicHeader("aicr", token),
  // The database column is LONGTEXT; rendering is the practical limit, and other tools assume GitHub's limit.
  bodyLimit: 65_000
})

export const gitea = giteaRow({
  kind: "gitea",
  webhook,
  dialect: { rangesFrom: undefined, extendsReviews: false, hasActions: true }
})
