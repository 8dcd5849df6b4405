/** Trigger profiles: names, app credentials, unprotected entrances. */
import type { Check } from "./CrossCheck.ts"
import { checkUnique } from "./Names.ts"
import { recordAt, recordsAt, textAt } from "./Tree.ts"
import { isRecord } from "../Path.ts"

const gitKinds = ["gitea", "forgejo", "github", "gitlab"]

export const checkTriggers: Check = (tree, { error, warning }) => {
  const triggers = recordsAt(tree, "triggers")
  checkUnique(triggers, "name", error)
  for (const { path, value } of triggers) {
    const kind = textAt(value, "kind") ?? ""
    if (gitKinds.includes(kind) && value["webhook_secret"] === undefined && value["webhook_secret_env"] === undefined)
      warning({
        path,
        message: "no webhook secret: signatures are not checked, anyone can send webhooks; set webhook_secret_env",
        at: "key"
      })
    if ((kind === "gitea" || kind === "forgejo") && value["base_url"] === undefined)
      warning({
        path,
        message: `${kind} needs base_url to publish; without it nothing is written to the host`,
        at: "key"
      })
    if (!isRecord(value["app"])) continue
    const app = recordAt(value, "app")
    if (app["app_id"] === undefined && app["client_id"] === undefined)
      error({ path: [...path, "app", "app_id"], message: "missing; set app_id or client_id", at: "value" })
    if (["private_key_env", "private_key_path", "private_key"].every((key) => app[key] === undefined))
      error({
        path: [...path, "app", "private_key_env"],
        message: "missing; set exactly one of private_key_env, private_key_path, private_key",
        at: "value"
      })
  }
}
