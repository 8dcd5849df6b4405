/** Checks rules across fields: references, names, exclusive pairs, requirements of a kind. Runs on the normalised tree. */
import type { Env } from "../Credentials.ts"
import { checkBackends } from "./Backends.ts"
import { checkChannels } from "./Channels.ts"
import { checkChat } from "./Chat.ts"
import type { Check, CrossCheckReports } from "./Check.ts"
import { checkFields } from "./Fields.ts"
import { checkLinks, checkLogin } from "./Login.ts"
import { checkLlm } from "./Llm.ts"
import { checkSignIn } from "./SignIn.ts"
import { checkTriggers } from "./Triggers.ts"
import { checkUnread } from "./Unread.ts"
import { checkWorkspaces } from "./Workspaces.ts"

const checks: ReadonlyArray<Check> = [
  checkFields,
  checkLlm,
  checkSignIn,
  checkTriggers,
  checkWorkspaces,
  checkChannels,
  checkChat,
  checkBackends,
  checkLinks,
  checkLogin,
  checkUnread
]

export const crossCheck = (tree: unknown, env: Env, reports: CrossCheckReports): void => {
  for (const check of checks) check(tree, reports, env)
}
