/** Forgejo deliveries: like Gitea's, but Forgejo's header names take precedence. */
import { makeGiteaWebhook } from "../gitea/Webhook.ts"

export const webhook = makeGiteaWebhook("forgejo", ["forgejo", "gitea"])
