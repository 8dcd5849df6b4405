/**
 * Lists members of Feishu and Lark (open.feishu.cn: contact-v3, im-v1 chat members). The application sees only the people in its contact
 * scope, and a field that it may not read is absent: then no one has the value.
 */
import { Effect } from "effect"
import { listAt, objectAt, textAt } from "../platform/ReadJson.ts"
import { maxDepartments, readPages, unreadable } from "../members/DirectoryReader.ts"
import type { DirectoryReader } from "../members/DirectoryReader.ts"
import type { FeishuApi } from "./Api.ts"

const contact = "/open-apis/contact/v3"
/** Root of all departments. */
const root = "0"

const idType = (department: string): string =>
  department === root || department.startsWith("od-") ? "open_department_id" : "department_id"

export const makeFeishuDirectory = ({ call }: FeishuApi): DirectoryReader => {
  const pages = (path: string, shown: string, query: Readonly<Record<string, string>>) =>
    readPages(`GET ${shown}`, (token) => {
      const all = new URLSearchParams({ ...query, ...(token === "" ? {} : { page_token: token }) })
      return Effect.map(call("GET", `${path}?${all}`, shown), (response) => {
        const data = objectAt(response, "data")
        const next = data["has_more"] === true ? textAt(data, ["page_token"], 2048) : undefined
        return { items: listAt(data, "items"), next }
      })
    })

  const listDepartments = Effect.fnUntraced(function* (department: string, recursive: boolean) {
    if (!recursive) return [department]
    const shown = `${contact}/departments/{id}/children`
    const items = yield* pages(`${contact}/departments/${encodeURIComponent(department)}/children`, shown, {
      department_id_type: idType(department),
      fetch_child: "true",
      page_size: "50"
    })
    if (items.length > maxDepartments)
      return yield* unreadable(`GET ${shown}`, { _tag: "TooManyListed", count: maxDepartments })
    const below = items.flatMap((item) => textAt(item, ["open_department_id"]) ?? [])
    return [department, ...below]
  })

  const listUsers = Effect.fnUntraced(function* (department: string, recursive: boolean) {
    const shown = `${contact}/users/find_by_department`
    const found: Array<{ readonly id: string; readonly title: string | undefined }> = []
    for (const one of yield* listDepartments(department, recursive)) {
      const query = { department_id: one, department_id_type: idType(one), user_id_type: "open_id", page_size: "50" }
      for (const user of yield* pages(shown, shown, query)) {
        const id = textAt(user, ["open_id"])
        const status = objectAt(user, "status")
        const isGone = ["is_resigned", "is_frozen", "is_exited"].some((name) => status[name] === true)
        if (id !== undefined && !isGone) found.push({ id, title: textAt(user, ["job_title"]) })
      }
    }
    return found
  })

  const listChat = Effect.fnUntraced(function* (chat: string) {
    const shown = "/open-apis/im/v1/chats/{id}/members"
    const items = yield* pages(`/open-apis/im/v1/chats/${encodeURIComponent(chat)}/members`, shown, {
      member_id_type: "open_id",
      page_size: "100"
    })
    return items.flatMap((item) => {
      const id = textAt(item, ["member_id"])
      const name = textAt(item, ["name"])
      if (id === undefined) return []
      const mention = { type: "feishu_open_id", id } as const
      return [{ key: id, names: name === undefined ? [] : [name], emails: [], accounts: [], mention }]
    })
  })

  return {
    listChat,
    listScope: Effect.fnUntraced(function* (scope) {
      switch (scope.kind) {
        case "feishu_chat":
          return new Set((yield* listChat(scope.id)).map(({ key }) => key))
        case "feishu_department":
          return new Set((yield* listUsers(scope.id, scope.recursive)).map(({ id }) => id))
        case "feishu_job_title": {
          const users = yield* listUsers(root, true)
          return new Set(users.filter(({ title }) => title === scope.id).map(({ id }) => id))
        }
        default:
          return yield* unreadable(scope.kind, { _tag: "NotOnPlatform", platform: "Feishu" })
      }
    })
  }
}
