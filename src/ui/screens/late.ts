export { Details } from './details';
export { Join } from './join';
export { Network } from './network';
export { Settings } from './settings';
