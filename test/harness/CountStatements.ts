/** Counts statements and commits of SQLite, and of Postgres on connections to the port in `COUNTS_POSTGRES_PORT`. */
import { Socket } from "node:net"
import { DatabaseSync, StatementSync } from "node:sqlite"
import { observe } from "./Observe.ts"

export interface StatementCounter {
  readonly statement: (sql: string) => void
  /** Counts a commit under the first write of its transaction. */
  readonly commit: (sql: string) => void
}

const starts = /^\s*BEGIN\b/i
const ends = /^\s*(?:COMMIT|END|ROLLBACK)\b(?! TO\b)/i
const control = /^\s*(?:BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA|SET)\b/i
const writes = /^\s*(?:INSERT|UPDATE|DELETE|WITH\b[^;]*\b(?:INSERT INTO|UPDATE|DELETE FROM))\b/i

/** Follows the transactions of one connection. */
class Transactions {
  readonly #counter: StatementCounter
  #isOpen = false
  #firstWrite: string | undefined

  constructor(counter: StatementCounter) {
    this.#counter = counter
  }

  /** A transaction that wrote is one commit when it ends, and so is a write outside of transactions. */
  count(sql: string): void {
    if (!control.test(sql)) this.#counter.statement(sql)
    if (starts.test(sql)) this.#isOpen = true
    if (writes.test(sql)) this.#firstWrite ??= sql
    const isEnd = ends.test(sql)
    if (this.#isOpen && !isEnd) return
    if (this.#firstWrite !== undefined && !/^\s*ROLLBACK/i.test(sql)) this.#counter.commit(this.#firstWrite)
    this.#isOpen = false
    this.#firstWrite = undefined
  }
}

export const countSqlite = (counter: StatementCounter): void => {
  const databases = new WeakMap<object, Transactions>()
  const transactionsOf = (holder: object): Transactions => {
    const known = databases.get(holder) ?? new Transactions(counter)
    databases.set(holder, known)
    return known
  }
  observe(DatabaseSync.prototype, "exec", (db, [sql]) => transactionsOf(db).count(String(sql)))
  observe(
    DatabaseSync.prototype,
    "prepare",
    () => {},
    (db, statement) => databases.set(statement, transactionsOf(db))
  )
  for (const name of ["run", "get", "all", "iterate"] as const)
    observe(StatementSync.prototype, name, (statement) => {
      const sql = statement.sourceSQL
      // The client reads after each write whether it changed anything.
      if (!sql.includes("total_changes()")) transactionsOf(statement).count(sql)
    })
}

/** The statements that a connection has prepared, and the one that it has bound. */
interface Connection {
  readonly transactions: Transactions
  readonly prepared: Map<string, string>
  bound: string
}

/** Calls a function with each message of the frontend: its type and its content. */
const readMessages = (data: Buffer, onMessage: (type: string, content: Buffer) => void): void => {
  for (let at = 0; at + 5 <= data.length;) {
    // The first message of a connection has no type.
    const hasType = data[at] !== 0
    const length = data.readInt32BE(at + (hasType ? 1 : 0))
    const end = at + length + (hasType ? 1 : 0)
    if (hasType) onMessage(String.fromCharCode(data[at] ?? 0), data.subarray(at + 5, end))
    at = end
  }
}

export const countPostgres = (port: number, counter: StatementCounter): void => {
  const connections = new WeakMap<Socket, Connection>()
  const connectionOf = (socket: Socket): Connection => {
    const known = connections.get(socket) ?? {
      transactions: new Transactions(counter),
      prepared: new Map(),
      bound: ""
    }
    connections.set(socket, known)
    return known
  }
  observe(Socket.prototype, "write", (socket, [data]) => {
    if (socket.remotePort !== port || !Buffer.isBuffer(data)) return
    const connection = connectionOf(socket)
    readMessages(data, (type, content) => {
      const [first = "", second = ""] = content.toString("utf8").split("\0")
      if (type === "Q") connection.transactions.count(first)
      else if (type === "P") connection.prepared.set(first, second)
      else if (type === "B") connection.bound = connection.prepared.get(second) ?? ""
      else if (type === "E") connection.transactions.count(connection.bound)
    })
  })
}
