/** Forgejo: Gitea's row with comments that may span lines with its own delivery headers, and without an API for artifacts of CI runs. */
import { firstForgejoWithRanges } from "../gitea/Facts.ts"
import { giteaRow } from "../gitea/Forge.ts"
import { webhook } from "./Webhook.ts"

export const forgejo = giteaRow({
  kind: "forgejo",
  webhook,
  dialect: { rangesFrom: firstForgejoWithRanges, extendsReviews: true, hasActions: false }
})
