/** Forgejo: Gitea's row, whose comments may span lines and whose deliveries have headers of their own. */
import { giteaRow } from "../gitea/forge.ts"
import { webhook } from "./webhook.ts"

export const forgejo = giteaRow({ kind: "forgejo", webhook, dialect: { ranges: true } })
