/** Forgejo deliveries: Gitea's, but for its own header names, which come first. */
import { makeGiteaWebhook } from "../gitea/webhook.ts"

export const webhook = makeGiteaWebhook("forgejo", ["forgejo", "gitea"])
