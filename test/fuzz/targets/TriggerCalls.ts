/** Bodies of `/triggers/*`. The first byte chooses the path and the content type. */
import { parseTrigger } from "../../../src/ingress/TriggerPayload.ts"
import type { TriggerPath } from "../../../src/ingress/TriggerPayload.ts"
import type { FuzzTarget } from "../Target.ts"
import { bytes, ensure } from "../Target.ts"

const paths: ReadonlyArray<TriggerPath> = ["manual", "custom", "p4", "svn"]
const types = ["application/json", "application/x-www-form-urlencoded", undefined]

const seeds = [
  '0{"repo":"acme/app","head":"main","base":"v1","title":"t","url":"https://host.test/x","author":{"name":"Ada","email":"a@b.c"}}',
  "4repo=acme%2Fapp&head=main&author.name=Ada&author[email]=a%40b.c",
  '2{"change":"1234","user":"ada","files":["//depot/a","//depot/b"],"old_change":1200}',
  "6changelist=1234&user=ada&files=%2F%2Fdepot%2Fa%0A%2F%2Fdepot%2Fb",
  '3{"revision":77,"author":"ada","changed_files":["trunk/a.c"]}',
  "7rev=77&base_rev=70&user=ada"
]

const calls: FuzzTarget = {
  name: "trigger-calls",
  seeds: () => seeds.map(bytes),
  words: ["change", "changelist", "cl", "rev", "repo", "head", "author[", "files", "--upload-pack=x", "refs/", "://"],
  check: (input) => {
    const [choice = 0] = input
    const path = paths[choice % 4] ?? "manual"
    const parsed = parseTrigger(path, types[Math.trunc((choice % 12) / 4)], input.subarray(1))
    if (parsed._tag === "Manual") {
      ensure(!parsed.request.head.startsWith("-"), "a head is not an option")
      ensure(parsed.request.repo.length <= 2048, "a repository name is bounded")
    }
    if (parsed._tag === "Depot") ensure(parsed.change.files.length <= 1000, "the list of files is bounded")
    if (parsed._tag === "Rejected") ensure(parsed.issues.length > 0, "a refusal says why")
  }
}

export const triggerCalls: ReadonlyArray<FuzzTarget> = [calls]
