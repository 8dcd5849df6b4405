/** The inbound half of every host, by kind. Pure, so that the ingress uses it without a service. */
import type { ForgeKind } from "../domain/Kinds.ts"
import type { ForgeWebhook } from "./Forge.ts"
import { webhook as forgejo } from "./forgejo/Webhook.ts"
import { webhook as gitea } from "./gitea/Webhook.ts"
import { webhook as github } from "./github/Webhook.ts"
import { webhook as gitlab } from "./gitlab/Webhook.ts"

export const webhooks = { gitea, forgejo, github, gitlab } satisfies Record<ForgeKind, ForgeWebhook>
