import type { Database } from "./database.js"

export interface Parcel {
  readonly id: string
  readonly recipient: string
  readonly status: "announced" | "in_transit" | "delivered" | "returned"
  readonly weightGrams: number
}

export interface Page {
  readonly limit: number
  readonly offset: number
}

const largestPage = 200

export class Parcels {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  async byId(id: string): Promise<Parcel | undefined> {
    const { rows } = await this.#db.query<Parcel>("SELECT * FROM parcels WHERE id = $1", [id])
    return rows[0]
  }

  async byStatus(status: Parcel["status"], page: Page): Promise<ReadonlyArray<Parcel>> {
    const { rows } = await this.#db.query<Parcel>(
      "SELECT * FROM parcels WHERE status = $1 ORDER BY id LIMIT $2 OFFSET $3",
      [status, Math.min(page.limit, largestPage), page.offset]
    )
    return rows
  }

  async search(recipient: string, page: Page): Promise<ReadonlyArray<Parcel>> {
    const { rows } = await this.#db.query<Parcel>(
      `SELECT * FROM parcels WHERE recipient ILIKE '%${recipient}%' LIMIT ${Math.min(page.limit, largestPage)}`
    )
    return rows
  }

  async markReturned(id: string): Promise<void> {
    await this.#db.query("UPDATE parcels SET status = 'returned' WHERE id = $1", [id])
  }

  async returnAll(ids: ReadonlyArray<string>): Promise<number> {
    for (const id of ids) {
      this.markReturned(id)
    }
    return ids.length
  }
}
