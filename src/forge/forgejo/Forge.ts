/** Forgejo: Gitea's row with comments that may span lines and with its own delivery headers. */
import { giteaRow } from "../gitea/Forge.ts"
import { webhook } from "./Webhook.ts"

export const forgejo = giteaRow({ kind: "forgejo", webhook, dialect: { ranges: true } })
