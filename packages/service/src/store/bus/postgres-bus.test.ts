import { systemClock } from '@connector-frame/engine';
import { postgresql } from '../../../../../test/support/databases.js';
import { runBusContract } from '../../../../../test/support/bus-contract.js';
import { Notifications } from '../notifications.js';
import { PostgresBus } from './postgres-bus.js';

const databases = postgresql();

runBusContract('PostgreSQL', async (limits) => {
  const database = await databases.open();
  const { pool } = database;
  if (!pool) throw new Error('This is not PostgreSQL.');
  const make = () => {
    const notifications = new Notifications(pool, systemClock);
    const bus = new PostgresBus({ pool, notifications, ...limits });
    notifications.start();
    const close = bus.close.bind(bus);
    bus.close = async () => {
      await close();
      await notifications.close();
    };
    return bus;
  };
  let bus = make();
  return {
    bus,
    reopen: async () => {
      await bus.close();
      bus = make();
      return bus;
    },
    close: async () => {
      await bus.close();
      await database.close();
    },
  };
});
