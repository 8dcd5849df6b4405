/** An administrator of a running service, over HTTP. */
export const adminCredentials = { username: "root", password: "correct horse" }
/** Variables of a service with this administrator. */
export const adminEnv = {
  SVC_ADMIN_USERNAME: adminCredentials.username,
  SVC_ADMIN_PASSWORD: adminCredentials.password
}

export interface AdminReply {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export class AdminSession {
  readonly #url: string
  readonly token: string

  private constructor(url: string, token: string) {
    this.#url = url
    this.token = token
  }

  /** Logs in at the service with this base URL. */
  static async open(url: string): Promise<AdminSession> {
    const { body } = await call(`${url}/api/admin/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(adminCredentials)
    })
    if (typeof body["token"] !== "string") throw new Error(`no token: ${JSON.stringify(body)}`)
    return new AdminSession(`${url}/api/admin`, body["token"])
  }

  /** Returns the session of a program with a token. */
  static withToken(url: string, token: string): AdminSession {
    return new AdminSession(`${url}/api/admin`, token)
  }

  get(path: string): Promise<AdminReply> {
    return call(`${this.#url}${path}`, { headers: { authorization: `Bearer ${this.token}` } })
  }

  post(path: string, body: object = {}): Promise<AdminReply> {
    return this.#send("POST", path, body)
  }

  put(path: string, body: object): Promise<AdminReply> {
    return this.#send("PUT", path, body)
  }

  #send(method: string, path: string, body: object): Promise<AdminReply> {
    return call(`${this.#url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      body: Object.keys(body).length === 0 ? null : JSON.stringify(body)
    })
  }

  /** The items of a list, such as `/events`. */
  async items(path: string): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> {
    const { items } = (await this.get(path)).body
    if (!Array.isArray(items)) throw new Error(`${path} has no items`)
    return items.map((item): Record<string, unknown> => Object(item))
  }
}

const call = async (url: string, init: RequestInit): Promise<AdminReply> => {
  const response = await fetch(url, init)
  const body: unknown = await response.json()
  return { status: response.status, body: Object(body) }
}
