/**
 * Lists members of a WeCom corporation (developer.work.weixin.qq.com: department/list, user/list, tag/get). The application sees only the
 * people in its visible range. Members are listed per department, because a list does not include departments below.
 */
import { Effect } from "effect"
import { listAt, numberAt, objectAt, textAt } from "../platform/ReadJson.ts"
import type { JsonObject } from "../platform/ReadJson.ts"
import { maxDepartments, maxPeople, unreadable } from "../members/DirectoryReader.ts"
import type { DirectoryReader } from "../members/DirectoryReader.ts"
import type { WecomApi } from "./Api.ts"

/** States of an account that cannot be used: disabled, and left the corporation. */
const unusable = new Set([2, 5])

interface User {
  readonly id: string
  readonly position: string | undefined
  readonly attributes: ReadonlyArray<{ readonly name: string | undefined; readonly value: string | undefined }>
}

const toUser = (item: JsonObject): ReadonlyArray<User> => {
  const id = textAt(item, ["userid"])
  if (id === undefined || unusable.has(numberAt(item, "status") ?? 1)) return []
  const attributes = listAt(item, "extattr", "attrs")
    .slice(0, 100)
    .map((one) => ({ name: textAt(one, ["name"]), value: textAt(one, ["value"]) ?? textAt(one, ["text", "value"]) }))
  return [{ id, position: textAt(item, ["position"]), attributes }]
}

export const makeWecomDirectory = ({ get }: WecomApi): DirectoryReader => {
  const listDepartments = Effect.fnUntraced(function* (department: string | undefined, recursive: boolean) {
    if (department !== undefined && !recursive) return [department]
    const path = "/cgi-bin/department/list"
    const response = yield* get(path, department === undefined ? {} : { id: department })
    const found = listAt(response, "department").flatMap((one) => numberAt(one, "id") ?? [])
    if (found.length > maxDepartments)
      return yield* unreadable(`GET ${path}`, { _tag: "TooManyListed", count: maxDepartments })
    return [...new Set([...(department === undefined ? [] : [department]), ...found.map(String)])]
  })

  const listUsers = Effect.fnUntraced(function* (department: string | undefined, recursive: boolean) {
    const path = "/cgi-bin/user/list"
    const users: Array<User> = []
    for (const one of yield* listDepartments(department, recursive)) {
      const response = yield* get(path, { department_id: one })
      for (const item of listAt(response, "userlist")) users.push(...toUser(objectAt(item)))
      if (users.length > maxPeople) return yield* unreadable(`GET ${path}`, { _tag: "TooManyListed", count: maxPeople })
    }
    return users
  })

  const listTag = Effect.fnUntraced(function* (tag: string) {
    const response = yield* get("/cgi-bin/tag/get", { tagid: tag })
    const ids = listAt(response, "userlist").flatMap((one) => textAt(one, ["userid"]) ?? [])
    const departments = listAt(response, "partylist").flatMap((one) => (typeof one === "number" ? [String(one)] : []))
    const below = yield* Effect.forEach(departments.slice(0, maxDepartments), (one) => listUsers(one, true))
    return [...ids, ...below.flat().map(({ id }) => id)]
  })

  const listWhere = (isMember: (user: User) => boolean) =>
    Effect.map(listUsers(undefined, true), (users) => new Set(users.filter(isMember).map(({ id }) => id)))

  return {
    listChat: () => Effect.fail(unreadable("GET chat members", { _tag: "NotOnPlatform", platform: "WeCom" })),
    listScope: Effect.fnUntraced(function* (scope) {
      switch (scope.kind) {
        case "wecom_department":
          return new Set((yield* listUsers(scope.id, scope.recursive)).map(({ id }) => id))
        case "wecom_tag":
          return new Set(yield* listTag(scope.id))
        case "wecom_position":
          return yield* listWhere(({ position }) => position === scope.id)
        case "wecom_extattr":
          return yield* listWhere(({ attributes }) =>
            attributes.some(({ name, value }) => name === scope.name && value === scope.value)
          )
        default:
          return yield* unreadable(scope.kind, { _tag: "NotOnPlatform", platform: "WeCom" })
      }
    })
  }
}
