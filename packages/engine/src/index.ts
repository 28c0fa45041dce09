export * from './records/record.js';
