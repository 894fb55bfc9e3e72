import { fromSequelize as fromSequelizeOnMysql } from '@q/driver-mysql/sequelize';
import { fromSequelize as fromSequelizeOnPg } from '@q/driver-pg/sequelize';
import { DataTypes, Sequelize, type Transaction } from 'sequelize';
import type { Application, Inside } from '../application.js';

export const onPostgres = async (url: string) => open(url, fromSequelizeOnPg);
export const onMysql = async (url: string) => open(url, fromSequelizeOnMysql);

function open<Tx>(url: string, fromSequelize: (transaction: Transaction) => Tx): Application<Tx> {
  const sequelize = new Sequelize(url, { logging: false });
  const Note = sequelize.define('note', { text: DataTypes.STRING }, { tableName: 'notes', timestamps: false });
  const insideOf = (transaction: Transaction): Inside<Tx> => ({
    note: (text) => Note.create({ text }, { transaction }),
    tx: () => fromSequelize(transaction),
    nested: (work) => sequelize.transaction({ transaction }, (inner) => work(insideOf(inner))),
  });
  return {
    transaction: (work) => sequelize.transaction((transaction) => work(insideOf(transaction))),
    async rolledBack(work) {
      const transaction = await sequelize.transaction();
      await work(insideOf(transaction));
      await transaction.rollback();
    },
    // The cast: what the compiler refuses.
    mistaken: () => fromSequelize(sequelize as unknown as Transaction),
    [Symbol.asyncDispose]: () => sequelize.close(),
  };
}
