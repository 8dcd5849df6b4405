/**
 * Directories of the fake chat platforms, with their rules: pages that may be short, departments below that a list of people does not
 * include, members of a chat without its bots, states of accounts.
 */
export interface FakePerson {
  readonly id: string
  readonly name?: string
  readonly department?: string
  /** Job title of Feishu, position of WeCom. */
  readonly title?: string
  readonly attributes?: Readonly<Record<string, string>>
  readonly isGone?: boolean
}

export class FakeDirectory {
  people: ReadonlyArray<FakePerson> = []
  /** Departments by id, with that above. */
  departments: Readonly<Record<string, string>> = {}
  /** Members of chats; bots are part of a page and are not returned. */
  chats: Readonly<Record<string, ReadonlyArray<string>>> = {}
  tags: Readonly<
    Record<string, { readonly people: ReadonlyArray<string>; readonly departments: ReadonlyArray<number> }>
  > = {}
  /** People per page, bots included. */
  pageSize = 2

  /** Returns the response of Feishu; undefined for other paths. */
  feishu(path: string, query: URLSearchParams): object | undefined {
    const chat = /^\/open-apis\/im\/v1\/chats\/([^/]+)\/members$/.exec(path)?.[1]
    if (chat !== undefined) {
      const all = this.chats[chat] ?? []
      return this.#page(all, query, (id) =>
        id.startsWith("bot")
          ? []
          : [{ member_id: id, member_id_type: "open_id", name: this.#nameOf(id), tenant_key: "t" }]
      )
    }
    const parent = /^\/open-apis\/contact\/v3\/departments\/([^/]+)\/children$/.exec(path)?.[1]
    if (parent !== undefined) {
      const below = query.get("fetch_child") === "true" ? this.#below(parent) : this.#children(parent)
      return this.#page(below, query, (id) => [{ open_department_id: id, name: id }])
    }
    if (path !== "/open-apis/contact/v3/users/find_by_department") return undefined
    const own = this.people.filter(({ department = "0" }) => department === query.get("department_id"))
    return this.#page(own, query, ({ id, isGone = false, name = id, title }) => [
      { open_id: id, name, status: { is_resigned: isGone }, ...(title === undefined ? {} : { job_title: title }) }
    ])
  }

  /** Returns the response of WeCom; undefined for other paths. */
  wecom(path: string, query: URLSearchParams): object | undefined {
    if (path === "/cgi-bin/department/list") {
      const id = query.get("id")
      const ids = id === null ? Object.keys(this.departments) : [id, ...this.#below(id)]
      return {
        errcode: 0,
        department: ids.map((one) => ({ id: Number(one), parentid: Number(this.departments[one] ?? 0) }))
      }
    }
    if (path === "/cgi-bin/user/list") {
      const own = this.people.filter(({ department }) => department === query.get("department_id"))
      const userlist = own.map(({ attributes = {}, id, isGone = false, name = id, title = "" }) => ({
        userid: id,
        name,
        position: title,
        status: isGone ? 5 : 1,
        extattr: { attrs: Object.entries(attributes).map(([key, value]) => ({ name: key, type: 0, text: { value } })) }
      }))
      return { errcode: 0, userlist }
    }
    if (path !== "/cgi-bin/tag/get") return undefined
    const tag = this.tags[query.get("tagid") ?? ""]
    if (tag === undefined) return { errcode: 40_068, errmsg: "invalid tagid" }
    return { errcode: 0, userlist: tag.people.map((userid) => ({ userid, name: userid })), partylist: tag.departments }
  }

  #nameOf(id: string): string {
    return this.people.find((person) => person.id === id)?.name ?? id
  }

  #children(parent: string): ReadonlyArray<string> {
    return Object.entries(this.departments).flatMap(([id, above]) => (above === parent ? [id] : []))
  }

  #below(parent: string): ReadonlyArray<string> {
    return this.#children(parent).flatMap((id) => [id, ...this.#below(id)])
  }

  #page<A>(all: ReadonlyArray<A>, query: URLSearchParams, toItems: (one: A) => ReadonlyArray<object>): object {
    const start = Number(query.get("page_token") ?? "0")
    const end = start + this.pageSize
    const hasMore = end < all.length
    const items = all.slice(start, end).flatMap(toItems)
    return { code: 0, data: { items, has_more: hasMore, page_token: hasMore ? String(end) : "" } }
  }
}
